/** Files in which {@code --data} keeps what must survive the process. */
@NullMarked
package dev.tollgate.local.data;

import org.jspecify.annotations.NullMarked;
