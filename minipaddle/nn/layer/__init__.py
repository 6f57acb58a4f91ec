"""The layer classes, one file per family, as in Paddle.

    activation    activations as layers
    common        Linear, Embedding, Dropout and other small layers
    container     Sequential, LayerList, LayerDict, ParameterList
    conv          convolutions as layers
    layers        Layer: a piece of a network that holds parameters, buffers and other layers
    loss          losses as layers
    norm          normalisations as layers
    pooling       pooling as layers
    transformer   attention with several heads, the layer built around it, and a stack of layers

Paddle: python/paddle/nn/layer/.
"""
