package dev.tollgate.client;

import java.util.Optional;

/**
 * The result of a claim for up to n tokens.
 *
 * @param tokens the number of spent tokens, 0 to n
 * @param shortfall why fewer than n were spent; empty if all were
 */
public record Claimed(int tokens, Optional<Claim.Shortfall> shortfall) {}
