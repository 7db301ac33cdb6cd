/**
 * The synthesized CloudFormation template: its resources in order, its intrinsic functions and its
 * assets. Imports {@code json} only.
 */
@NullMarked
package dev.tollgate.local.template;

import org.jspecify.annotations.NullMarked;
