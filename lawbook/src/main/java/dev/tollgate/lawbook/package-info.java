/**
 * Checks any rate limiter against the laws of token buckets, in simulated time and over random
 * histories.
 *
 * <p>To check your own limiter, implement the three methods of {@link
 * dev.tollgate.lawbook.Limiter}:
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
 * <p>{@code hold} throws a {@link dev.tollgate.lawbook.LawViolation} for the first broken law. The
 * error names the law, the history, the expected and the actual behaviour, and shows a shortened
 * history that still breaks the law. {@code -Dlawbook.seed=N} replays that one history; {@code
 * -Dlawbook.histories=N} plays N histories.
 *
 * <p>A limiter that admits too many tokens breaks {@link
 * dev.tollgate.lawbook.LimiterLaws#NEVER_MORE}; a limiter that admits later than its terms state
 * breaks {@link dev.tollgate.lawbook.LimiterLaws#NEVER_LATE}; {@link dev.tollgate.lawbook.Terms}
 * states what a limiter promises. Claims for several tokens, and concurrent claims, are checked if
 * the limiter supports them.
 *
 * <p>Implement {@link dev.tollgate.lawbook.Counter} to check a count, such as open connections, and
 * {@link dev.tollgate.lawbook.Processor} to check a processor of messages that senders may send
 * again, and {@link dev.tollgate.lawbook.Quota} to check a number of tokens a day or week.
 */
@NullMarked
package dev.tollgate.lawbook;

import org.jspecify.annotations.NullMarked;
