package dev.tollgate.client;

import java.util.Optional;

/**
 * The result of a claim for up to n tokens.
 *
 * @param tokens how many were spent; 0 to n
 * @param shortfall why not all n; empty if all were spent
 */
public record Claimed(int tokens, Optional<Claim.Shortfall> shortfall) {}
