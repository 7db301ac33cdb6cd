/** An AWS account: its APIs, and the stacks that are deployed to it. */
@NullMarked
package dev.tollgate.cli.prove.account;

import org.jspecify.annotations.NullMarked;
