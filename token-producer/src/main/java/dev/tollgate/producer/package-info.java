/** The function that fills buckets, and its wiring over AWS. May import core and aws.config. */
@NullMarked
package dev.tollgate.producer;

import org.jspecify.annotations.NullMarked;
