/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of an instance, and the log they configure. */
#ifndef ACLSHMEMI_INIT_SETTINGS_H
#define ACLSHMEMI_INIT_SETTINGS_H

#include "host/utils/env.h"

/* Reads the settings and applies those of the log; names nobody knows are said once. */
int aclshmemi_settings_load(aclshmemi_env_t *env) ACLSHMEMI_MUST_CHECK;

#endif
