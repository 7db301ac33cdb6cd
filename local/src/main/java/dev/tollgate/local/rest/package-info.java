/**
 * The REST-JSON protocol that Lambda and EventBridge Scheduler speak. May import {@code json} and
 * {@code endpoint}.
 */
@NullMarked
package dev.tollgate.local.rest;

import org.jspecify.annotations.NullMarked;
