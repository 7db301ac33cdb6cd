/**
 * Decides which host names and web sites may send requests to the ports of the local cloud. Imports
 * nothing else of this module.
 */
@NullMarked
package dev.tollgate.local.sites;

import org.jspecify.annotations.NullMarked;
