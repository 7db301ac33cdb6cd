/**
 * The REST-JSON protocol that Lambda and EventBridge Scheduler speak. Imports {@code json} and
 * nothing else of this module.
 */
@NullMarked
package dev.tollgate.local.rest;

import org.jspecify.annotations.NullMarked;
