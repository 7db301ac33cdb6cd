/**
 * Decides which host names and web origins may send requests to the ports of the local cloud.
 * Imports {@code json} and nothing else of this module.
 */
@NullMarked
package dev.tollgate.local.hosts;

import org.jspecify.annotations.NullMarked;
