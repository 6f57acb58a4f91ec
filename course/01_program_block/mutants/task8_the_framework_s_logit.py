return paddle.logit
