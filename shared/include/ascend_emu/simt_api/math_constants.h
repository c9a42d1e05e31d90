// Constants of the SIMT math library (ascend_c_vector.md section 14.5).
#pragma once

#define ASCRT_INF_F __builtin_inff()
#define ASCRT_NAN_F __builtin_nanf("")
#define ASCRT_MIN_DENORM_F 0x1p-149f
#define ASCRT_MAX_NORMAL_F 0x1.fffffep127f
#define ASCRT_NEG_ZERO_F (-0.0f)
#define ASCRT_ZERO_F 0.0f
#define ASCRT_ONE_F 1.0f
#define ASCRT_SQRT_HALF_F 0.707106781f
#define ASCRT_SQRT_TWO_F 1.414213562f
#define ASCRT_THIRD_F 0.333333333f
#define ASCRT_PIO4_F 0.785398163f
#define ASCRT_PIO2_F 1.570796327f
#define ASCRT_3PIO4_F 2.356194490f
#define ASCRT_2_OVER_PI_F 0.636619772f
#define ASCRT_SQRT_2_OVER_PI_F 0.797884561f
#define ASCRT_PI_F 3.141592654f
#define ASCRT_L2E_F 1.442695041f
#define ASCRT_L2T_F 3.321928094f
#define ASCRT_LG2_F 0.301029996f
#define ASCRT_LGE_F 0.434294482f
#define ASCRT_LN2_F 0.693147181f
#define ASCRT_LNT_F 2.302585093f
