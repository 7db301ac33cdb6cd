/**
 * The synthesized CloudFormation template: its resources in order, its intrinsics and its assets.
 */
@NullMarked
package dev.tollgate.local.template;

import org.jspecify.annotations.NullMarked;
