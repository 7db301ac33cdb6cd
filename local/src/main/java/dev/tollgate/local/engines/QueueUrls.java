package dev.tollgate.local.engines;

/** The URLs of queues, in the form of AWS. */
public final class QueueUrls {
  private QueueUrls() {}

  /** The URL of a queue. */
  public static String of(String region, String account, String queue) {
    return "https://" + host(region) + "/" + account + "/" + queue;
  }

  /** The URL of the queue with an ARN. */
  public static String ofArn(String arn) {
    String[] parts = arn.split(":", 6);
    return of(parts[3], parts[4], parts[5]);
  }

  /** The name of the queue that a URL, a path or an ARN ends with. */
  public static String name(String urlOrArn) {
    return urlOrArn.substring(Math.max(urlOrArn.lastIndexOf('/'), urlOrArn.lastIndexOf(':')) + 1);
  }

  /** The host name of SQS in a region. */
  static String host(String region) {
    return "sqs." + region + ".amazonaws.com";
  }
}
