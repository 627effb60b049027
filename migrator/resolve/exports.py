"""What star imports from Keras modules bring: module below `tf.keras` -> its public names.

Made from the modules themselves (Keras 3.15) with the names that only Keras 2 has added by hand.
"""

EXPORTS: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "activations": """
            celu deserialize elu exponential gelu get glu hard_shrink hard_sigmoid hard_silu hard_swish
            hard_tanh leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu serialize sigmoid silu
            soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid sparsemax squareplus swish tanh
            tanh_shrink threshold
        """,
        "applications": """
            ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge DenseNet121 DenseNet169
            DenseNet201 EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4
            EfficientNetB5 EfficientNetB6 EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2
            EfficientNetV2B3 EfficientNetV2L EfficientNetV2M EfficientNetV2S InceptionResNetV2 InceptionV3
            MobileNet MobileNetV2 MobileNetV3Large MobileNetV3Small NASNetLarge NASNetMobile ResNet101
            ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2 VGG16 VGG19 Xception convnext densenet
            efficientnet efficientnet_v2 imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2
            mobilenet_v3 nasnet resnet resnet50 resnet_v2 vgg16 vgg19 xception
        """,
        "backend": """
            abs all any arange argmax argmin backend batch_dot batch_flatten batch_get_value batch_normalization
            batch_set_value bias_add binary_crossentropy cast cast_to_floatx categorical_crossentropy
            clear_session clip concatenate constant conv1d conv2d conv2d_transpose conv3d cos count_params
            ctc_batch_cost ctc_decode ctc_label_dense_to_sparse cumprod cumsum depthwise_conv2d dot dropout
            dtype elu epsilon equal eval exp expand_dims eye flatten floatx foldl foldr function gather
            get_session get_uid get_value gradients greater greater_equal hard_sigmoid image_data_format
            in_test_phase in_train_phase int_shape is_float_dtype is_int_dtype is_keras_tensor is_sparse
            l2_normalize learning_phase less less_equal local_conv1d local_conv2d log logsumexp
            manual_variable_initialization map_fn max maximum mean min minimum moving_average_update name_scope
            ndim normalize_batch_in_training not_equal one_hot ones ones_like permute_dimensions placeholder
            pool2d pool3d pow print_tensor prod random_bernoulli random_binomial random_normal
            random_normal_variable random_uniform random_uniform_variable relu repeat repeat_elements reset_uids
            reshape resize_images resize_volumes result_type reverse rnn round separable_conv2d set_epsilon
            set_floatx set_image_data_format set_learning_phase set_session set_value shape sigmoid sign sin
            softmax softplus softsign sparse_categorical_crossentropy spatial_2d_padding spatial_3d_padding sqrt
            square squeeze stack standardize_dtype std stop_gradient sum switch tanh temporal_padding tile
            to_dense transpose truncated_normal update update_add update_sub var variable zeros zeros_like
        """,
        "callbacks": """
            BackupAndRestore CSVLogger Callback CallbackList EarlyStopping History LambdaCallback
            LearningRateScheduler ModelCheckpoint OrbaxCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor
            SwapEMAWeights TensorBoard TerminateOnNaN
        """,
        "constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm min_max_norm non_neg
            serialize unit_norm
        """,
        "datasets": """
            boston_housing california_housing cifar10 cifar100 fashion_mnist imdb mnist reuters
        """,
        "initializers": """
            Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer Initializer
            LecunNormal LecunUniform Ones Orthogonal OrthogonalInitializer RandomNormal RandomUniform STFT
            STFTInitializer TruncatedNormal VarianceScaling Zeros constant deserialize get glorot_normal
            glorot_uniform he_normal he_uniform identity lecun_normal lecun_uniform ones orthogonal
            random_normal random_uniform serialize stft truncated_normal variance_scaling zeros
        """,
        "layers": """
            Activation ActivityRegularization AdaptiveAveragePooling1D AdaptiveAveragePooling2D
            AdaptiveAveragePooling3D AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D Add
            AdditiveAttention AlphaDropout AtrousConvolution2D Attention AugMix AutoContrast Average
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D BatchNormalization
            Bidirectional CategoryEncoding CenterCrop Concatenate ContrastLimitedAdaptiveHistogramEqualization
            Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D ConvLSTM2D
            ConvLSTM3D Convolution1D Convolution1DTranspose Convolution2D Convolution2DTranspose Convolution3D
            Convolution3DTranspose Cropping1D Cropping2D Cropping3D CuDNNGRU CuDNNLSTM CutMix Deconvolution2D
            Dense DenseFeatures DepthwiseConv1D DepthwiseConv2D Discretization Dot Dropout ELU EinsumDense
            Embedding Equalization Flatten FlaxLayer GRU GRUCell GaussianDropout GaussianNoise
            GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
            GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D
            GlobalMaxPooling2D GlobalMaxPooling3D GroupNormalization GroupQueryAttention HashedCrossing Hashing
            Highway Identity Input InputLayer InputSpec IntegerLookup JaxLayer LSTM LSTMCell Lambda Layer
            LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D Masking MaxNumBoundingBoxes
            MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum MaxoutDense
            MelSpectrogram Merge Minimum MixUp MultiHeadAttention Multiply Normalization PReLU Permute Pipeline
            RMSNormalization RNN RandAugment RandomBrightness RandomColorDegeneration RandomColorJitter
            RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur
            RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation
            RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom ReLU RepeatVector
            Rescaling Reshape Resizing ReversibleEmbedding STFTSpectrogram SeparableConv1D SeparableConv2D
            SeparableConvolution1D SeparableConvolution2D SimpleRNN SimpleRNNCell Softmax Solarization
            SpatialDropout1D SpatialDropout2D SpatialDropout3D SpectralNormalization StackedRNNCells
            StringLookup Subtract SyncBatchNormalization TFSMLayer TextVectorization ThresholdedReLU
            TimeDistributed TorchModuleWrapper UnitNormalization UpSampling1D UpSampling2D UpSampling3D Wrapper
            ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate deserialize dot maximum minimum
            multiply serialize subtract
        """,
        "losses": """
            BinaryCrossentropy BinaryFocalCrossentropy CTC CategoricalCrossentropy CategoricalFocalCrossentropy
            CategoricalGeneralizedCrossEntropy CategoricalHinge Circle CosineSimilarity Dice Hinge Huber
            KLDivergence LogCosh Loss MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError
            MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge Tversky
            binary_crossentropy binary_focal_crossentropy categorical_crossentropy
            categorical_focal_crossentropy categorical_generalized_cross_entropy categorical_hinge circle
            cosine_similarity ctc deserialize dice get hinge huber kl_divergence log_cosh mean_absolute_error
            mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error poisson serialize
            sparse_categorical_crossentropy squared_hinge tversky
        """,
        "metrics": """
            AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy
            CategoricalHinge ConcordanceCorrelation CosineSimilarity F1Score FBetaScore FalseNegatives
            FalsePositives Hinge IoU KLDivergence LogCoshError Mean MeanAbsoluteError
            MeanAbsolutePercentageError MeanIoU MeanMetricWrapper MeanSquaredError MeanSquaredLogarithmicError
            Metric OneHotIoU OneHotMeanIoU PearsonCorrelation Poisson Precision PrecisionAtRecall R2Score Recall
            RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy
            SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity SquaredHinge
            Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy binary_crossentropy
            binary_focal_crossentropy categorical_accuracy categorical_crossentropy
            categorical_focal_crossentropy categorical_hinge concordance_correlation deserialize get hinge huber
            kl_divergence log_cosh mean_absolute_error mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error pearson_correlation poisson serialize sparse_categorical_accuracy
            sparse_categorical_crossentropy sparse_top_k_categorical_accuracy squared_hinge
            top_k_categorical_accuracy
        """,
        "models": """
            Functional Model Sequential clone_model load_model model_from_json model_from_yaml save_model
        """,
        "ops": """
            abs absolute adaptive_average_pool adaptive_max_pool add all allclose amax amin angle any append
            arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort array
            array_split associative_scan average average_pool bartlett batch_normalization binary_crossentropy
            bincount bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
            bitwise_xor blackman broadcast_to cast categorical_crossentropy cbrt cdist ceil celu cholesky
            cholesky_inverse clip concatenate cond conj conjugate conv conv_transpose convert_to_numpy
            convert_to_tensor copy corrcoef correlate cos cosh count_nonzero cross ctc_decode ctc_loss cumprod
            cumsum custom_gradient deg2rad depth_to_space depthwise_conv det diag diagflat diagonal diff
            digitize divide divide_no_nan dot dot_product_attention dsplit dstack dtype eig eigh einsum elu
            empty empty_like equal erf erfc erfinv exp exp2 expand_dims expm1 extract_sequences eye fabs fft
            fft2 flip fliplr flipud floor floor_divide fmax fmin fmod fold fori_loop full full_like gcd gelu
            geomspace get_item glu greater greater_equal hamming hanning hard_shrink hard_sigmoid hard_silu
            hard_swish hard_tanh heaviside histogram hsplit hstack hypot i0 identity ifft2 imag image in_top_k
            inner inv irfft is_tensor isclose isfinite isin isinf isnan isneginf isposinf isreal istft jvp
            kaiser kron layer_normalization lcm ldexp leaky_relu left_shift less less_equal linalg linspace log
            log10 log1p log2 log_sigmoid log_softmax logaddexp logaddexp2 logdet logical_and logical_not
            logical_or logical_xor logspace logsumexp lstsq lu_factor map matmul matrix_rank max max_pool
            maximum mean median meshgrid min minimum mod moments moveaxis multi_hot multiply nan_to_num
            nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
            nanquantile nanstd nansum nanvar ndim negative nextafter nn nonzero norm normalize not_equal numpy
            one_hot ones ones_like outer pad percentile pinv polar power prod psnr ptp qr quantile rad2deg ravel
            real rearrange reciprocal relu relu6 repeat reshape rfft right_shift rms_normalization roll rot90
            round rsqrt saturate_cast scan scatter scatter_update searchsorted segment_max segment_min
            segment_prod segment_sum select selu separable_conv shape sigmoid sign signbit silu sin sinc sinh
            size slice slice_update slogdet soft_shrink softmax softplus softsign solve solve_triangular sort
            space_to_depth sparse_categorical_crossentropy sparse_plus sparse_sigmoid sparsemax split sqrt
            square squareplus squeeze stack std stft stop_gradient subtract sum svd swapaxes swish switch take
            take_along_axis tan tanh tanh_shrink tensordot threshold tile top_k trace transpose trapezoid tri
            tril triu true_divide trunc unfold unique unravel_index unstack vander var vdot vectorize
            vectorized_map view view_as_complex view_as_real vsplit vstack where while_loop zeros zeros_like
        """,
        "optimizers": """
            Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lamb Lion LossScaleOptimizer MultiOptimizer Muon
            Nadam Optimizer OptimizerMap RMSprop SGD ScheduleFreeAdamW deserialize get legacy schedules
            serialize
        """,
        "optimizers.schedules": """
            CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule
            PiecewiseConstantDecay PolynomialDecay deserialize serialize
        """,
        "random": """
            SeedGenerator beta binomial categorical dropout gamma normal randint shuffle truncated_normal
            uniform
        """,
        "regularizers": """
            L1 L1L2 L2 OrthogonalRegularizer Regularizer deserialize get l1 l1_l2 l2 orthogonal_regularizer
            serialize
        """,
        "utils": """
            Config CustomObjectScope FeatureSpace HDF5Matrix Progbar PyDataset Sequence array_to_img
            audio_dataset_from_directory bounding_boxes clear_session custom_object_scope
            deserialize_keras_object disable_interactive_logging enable_interactive_logging generic_utils
            get_custom_objects get_file get_registered_name get_registered_object get_source_inputs
            image_dataset_from_directory img_to_array is_interactive_logging_enabled is_keras_tensor legacy
            load_img model_to_dot multi_gpu_model normalize np_utils pack_x_y_sample_weight pad_sequences
            plot_model register_keras_serializable save_img serialize_keras_object set_random_seed split_dataset
            standardize_dtype text_dataset_from_directory timeseries_dataset_from_array to_categorical
            unpack_x_y_sample_weight
        """,
    }.items()
}
