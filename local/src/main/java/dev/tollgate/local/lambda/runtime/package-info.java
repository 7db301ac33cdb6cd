/**
 * Loads the handler of a function and invokes it, as the Lambda runtime does. Imports nothing else
 * of this module.
 */
@NullMarked
package dev.tollgate.local.lambda.runtime;

import org.jspecify.annotations.NullMarked;
