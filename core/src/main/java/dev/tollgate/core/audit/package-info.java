/**
 * The audit: who changed which tenant, tier or switch, when, and from what to what. It is read from
 * the changes of rows. Imports core only.
 */
@NullMarked
package dev.tollgate.core.audit;

import org.jspecify.annotations.NullMarked;
