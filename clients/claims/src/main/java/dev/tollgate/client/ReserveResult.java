package dev.tollgate.client;

/**
 * The result of {@link TokenBucket#reserve}: a {@link Reservation}, {@link Claim.Denied} or {@link
 * Claim.Undecided}.
 */
public sealed interface ReserveResult permits Reservation, Claim.Shortfall {}
