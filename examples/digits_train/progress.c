/* SPDX-License-Identifier: Apache-2.0 */
/* Life signs of a training run. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "digits.h"

enum { BAR = 30, PLAIN_LINES = 8 };

static bool on_terminal(void)
{
    static int known = -1;
    if (known < 0)
        known = isatty(STDERR_FILENO);
    return known == 1;
}

void progress_show(int epoch, int epochs, double loss, double accuracy)
{
    if (on_terminal()) {
        int done = epoch * BAR / epochs;
        fprintf(stderr, "\rtraining [%.*s%*s] epoch %d/%d  loss %.4f  held-out accuracy %.1f %%", done,
                "##############################", BAR - done, "", epoch, epochs, loss, 100.0 * accuracy);
        fflush(stderr);
        return;
    }
    int step = epochs / PLAIN_LINES > 0 ? epochs / PLAIN_LINES : 1;
    if (epoch % step == 0 || epoch == epochs || epoch == 1)
        fprintf(stderr, "epoch %d/%d  loss %.4f  held-out accuracy %.1f %%\n", epoch, epochs, loss,
                100.0 * accuracy);
}

void progress_end(void)
{
    if (on_terminal())
        fputc('\n', stderr);
}
