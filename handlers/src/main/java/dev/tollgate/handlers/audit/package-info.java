/** The functions of the audit. */
@NullMarked
package dev.tollgate.handlers.audit;

import org.jspecify.annotations.NullMarked;
