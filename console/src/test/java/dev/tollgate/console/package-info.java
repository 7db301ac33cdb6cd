@NullMarked
package dev.tollgate.console;

import org.jspecify.annotations.NullMarked;
