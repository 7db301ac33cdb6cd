/** AWS X-Ray: the daemon that functions send segments to, and the operations that read traces. */
@NullMarked
package dev.tollgate.local.xray;

import org.jspecify.annotations.NullMarked;
