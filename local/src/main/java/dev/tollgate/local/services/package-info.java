/**
 * The AWS services on one machine: the embedded engines, and one front door with AWS's protocols
 * before them.
 */
@NullMarked
package dev.tollgate.local.services;

import org.jspecify.annotations.NullMarked;
