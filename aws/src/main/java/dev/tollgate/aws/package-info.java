/** The ports of core over AWS. {@link dev.tollgate.aws.config.AwsEnvironment} is the one way in. */
@NullMarked
package dev.tollgate.aws;

import org.jspecify.annotations.NullMarked;
