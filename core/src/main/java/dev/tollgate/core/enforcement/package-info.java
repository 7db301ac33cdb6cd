/** Whether limits are enforced: one switch that admits everybody for a while. Imports core only. */
@NullMarked
package dev.tollgate.core.enforcement;

import org.jspecify.annotations.NullMarked;
