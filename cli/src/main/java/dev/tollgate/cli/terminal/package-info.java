/** What a person sees and types. */
@NullMarked
package dev.tollgate.cli.terminal;

import org.jspecify.annotations.NullMarked;
