/**
 * Names and errors that all adapters share. May import only core. Start reading at {@link
 * dev.tollgate.aws.config.AwsEnvironment}.
 */
@NullMarked
package dev.tollgate.aws;

import org.jspecify.annotations.NullMarked;
