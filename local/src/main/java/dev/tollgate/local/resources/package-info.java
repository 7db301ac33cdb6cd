/**
 * The CloudFormation resource types that a local stack can have. A {@link
 * dev.tollgate.local.resources.ResourceFamily} adds types; the class path is searched for families.
 * May import the packages of the services, but not {@code dev.tollgate.local} itself.
 */
@NullMarked
package dev.tollgate.local.resources;

import org.jspecify.annotations.NullMarked;
