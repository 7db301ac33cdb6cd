package dev.tollgate.client;

/**
 * The answer to {@link TokenBucket#reserve}: a {@link Reservation}, {@link Claim.Denied} or {@link
 * Claim.Undecided}.
 */
public sealed interface ReserveResult permits Reservation, Claim.Shortfall {}
