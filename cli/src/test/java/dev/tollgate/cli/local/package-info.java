@NullMarked
package dev.tollgate.cli.local;

import org.jspecify.annotations.NullMarked;
