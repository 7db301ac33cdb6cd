/** The commands that show what happened to tenants, minute by minute or hour by hour. */
@NullMarked
package dev.tollgate.cli.history;

import org.jspecify.annotations.NullMarked;
