/** The function that sends pushes to whole tenants. */
@NullMarked
package dev.tollgate.handlers.push;

import org.jspecify.annotations.NullMarked;
