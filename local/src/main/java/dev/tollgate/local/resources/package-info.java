/**
 * The CloudFormation resource types that a local stack can have. A {@link
 * dev.tollgate.local.resources.ResourceFamily} adds types; {@link java.util.ServiceLoader} finds
 * the families. May import the packages of the services, but not {@code dev.tollgate.local} itself.
 */
@NullMarked
package dev.tollgate.local.resources;

import org.jspecify.annotations.NullMarked;
