/**
 * The synthesized CloudFormation template: its resources, its intrinsic functions and its assets.
 * Imports {@code json} only.
 */
@NullMarked
package dev.tollgate.local.template;

import org.jspecify.annotations.NullMarked;
