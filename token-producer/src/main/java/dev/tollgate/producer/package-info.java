/** The function that fills buckets, and its wiring over AWS. Import core and aws here. */
@NullMarked
package dev.tollgate.producer;

import org.jspecify.annotations.NullMarked;
