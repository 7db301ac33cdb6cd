@NullMarked
package dev.tollgate.local.lambda.runtime;

import org.jspecify.annotations.NullMarked;
