/** What goes wrong in a local cloud on purpose, by a plan that can be repeated. */
@NullMarked
package dev.tollgate.local.faults;

import org.jspecify.annotations.NullMarked;
