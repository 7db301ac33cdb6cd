@NullMarked
package dev.tollgate.local.lambda;

import org.jspecify.annotations.NullMarked;
