/* SPDX-License-Identifier: Apache-2.0 */
/* Lines over the PMI descriptor. Inside pmi/. */
#ifndef ACLSHMEMI_BOOTSTRAP_PMI_STREAM_H
#define ACLSHMEMI_BOOTSTRAP_PMI_STREAM_H

#include "host/bootstrap/pmi/line.h"
#include "host/bootstrap/pmi/pmi.h"

typedef enum aclshmemi_pmi_outcome {
    ACLSHMEMI_PMI_DONE,
    ACLSHMEMI_PMI_LATE,     /* the deadline passed; what had arrived is kept */
    ACLSHMEMI_PMI_HUNG_UP,  /* the server closed */
    ACLSHMEMI_PMI_GARBAGE,  /* not a line of the protocol, or longer than any can be */
    ACLSHMEMI_PMI_NO_SOCKET /* the system refused; errno tells */
} aclshmemi_pmi_outcome_t;

aclshmemi_pmi_outcome_t aclshmemi_pmi_send(int fd, const char *text, aclshmemi_deadline_t deadline);
/* line points into text, which receives the line. */
aclshmemi_pmi_outcome_t aclshmemi_pmi_receive(aclshmemi_pmi_t *pmi, char text[ACLSHMEMI_PMI_LINE_MAX + 1],
                                              aclshmemi_pmi_line_t *line, aclshmemi_deadline_t deadline);

#endif
