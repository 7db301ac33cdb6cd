package dev.tollgate.core.bucket.claim;

import java.util.Optional;

/**
 * The result of a claim for up to n tokens.
 *
 * @param tokens how many were spent
 * @param shortfall why not all n; empty if all were spent
 */
public record SpendResult(int tokens, Optional<ClaimResult.Shortfall> shortfall) {}
