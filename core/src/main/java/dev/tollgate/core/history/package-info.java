/**
 * What happened to each tenant in each minute and each hour: read from the changes of its rows, and
 * written beside them. May import core, {@code connect} and {@code bucket}.
 */
@NullMarked
package dev.tollgate.core.history;

import org.jspecify.annotations.NullMarked;
