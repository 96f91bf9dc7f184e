use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->utf8->canonical;
open my $in, '<', $ENV{ARGOPERATOR_REQUEST} or die "the request: $!";
my $parent = $json->decode(do { local $/; <$in> })->{parent};

my ($number, @children) = (0);
for my $name (split ' ', $parent->{data}{names} // '') {
    push @children, {
        apiVersion => 'v1',
        kind       => 'ConfigMap',
        metadata   => {name => sprintf('%s-card-%d', $parent->{metadata}{name}, $number++)},
        data       => {text => "Hello, $name!"},
    };
}
open my $out, '>', $ENV{ARGOPERATOR_RESPONSE} or die "the response: $!";
print $out $json->encode({children => \@children});
close $out or die "the response: $!";
