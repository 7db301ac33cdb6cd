/** Questions to AWS, and the recorded answers. */
@NullMarked
package dev.tollgate.cli.prove.probe;

import org.jspecify.annotations.NullMarked;
