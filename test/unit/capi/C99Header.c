/* pipec.h is C99 without extensions; called by CApiTest.cpp. */
#include "pipec/pipec.h"

uint32_t abi_version_from_c(void);

uint32_t abi_version_from_c(void) {
  pipec_session_options session;
  pipec_trainer_options trainer;
  pipec_session_options_init(&session, sizeof session);
  pipec_trainer_options_init(&trainer, sizeof trainer);
  if (session.size != sizeof session || trainer.size != sizeof trainer)
    return 0;
  return pipec_abi_version();
}
