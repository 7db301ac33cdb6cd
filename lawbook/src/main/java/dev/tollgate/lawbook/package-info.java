/**
 * The law book: what a token bucket owes its users, as laws that any limiter can be held to over
 * simulated time.
 *
 * <p>A limiter of your own is put behind {@link dev.tollgate.lawbook.Limiter}, three methods:
 *
 * <pre>{@code
 * LawBook.ofLimiter(setting -> new Limiter() {
 *   private final Map<String, MyBucket> buckets = new HashMap<>();
 *
 *   public void open(String tenant, Terms terms) {
 *     buckets.put(tenant, new MyBucket(terms.rate().tokens(), terms.rate().per(), terms.capacity(), setting.clock()));
 *   }
 *
 *   public Claim claim(String tenant) {
 *     MyBucket bucket = buckets.get(tenant);
 *     return bucket.tryAcquire() ? Claim.admitted() : Claim.refused(bucket.timeToNext());
 *   }
 *
 *   public boolean retune(String tenant, Terms terms) {
 *     return false; // its terms never change
 *   }
 * }).hold(1_000);
 * }</pre>
 *
 * <p>It throws a {@link dev.tollgate.lawbook.Breach} for the first law that does not hold: which
 * one, in which history, what was expected and what happened, and the shortest history found that
 * shows it. {@code -Dlawbook.seed=N} plays that history alone again, {@code -Dlawbook.histories=N}
 * plays so many.
 *
 * <p>A limiter that admits more than it should breaks {@link
 * dev.tollgate.lawbook.LimiterLaws#NEVER_MORE}, one that admits later than it says breaks {@link
 * dev.tollgate.lawbook.LimiterLaws#NEVER_LATE}; {@link dev.tollgate.lawbook.Terms} says what each
 * is held to. Claims for several tokens, and by several callers at the same time, are tried where
 * the limiter takes them.
 *
 * <p>What counts absolutely, like open connections, is put behind {@link
 * dev.tollgate.lawbook.Counter}; what processes messages that may be sent again, behind {@link
 * dev.tollgate.lawbook.Processor}.
 */
@NullMarked
package dev.tollgate.lawbook;

import org.jspecify.annotations.NullMarked;
