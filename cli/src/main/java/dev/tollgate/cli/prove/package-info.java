/** Proves on an AWS account that a deployment does what this project assumes about AWS. */
@NullMarked
package dev.tollgate.cli.prove;

import org.jspecify.annotations.NullMarked;
