package article_test

import (
	"strings"
	"testing"

	"github.com/argoperator/argoperator/pkg/internal/base/article"
)

func TestWith(t *testing.T) {
	for noun := range strings.SplitSeq("Deployment,Memcached,User,Unit,UniqueName,URL,UDPRoute,UUID,Usage,Utility,S,X,"+
		"MySQL,NetworkPolicy,Job,string,number,boolean,", ",") {
		if got := article.With(noun); got != "a "+noun {
			t.Errorf("%q", got)
		}
	}
	for noun := range strings.SplitSeq("Ingress,IngressTriangle,APIService,Operator,EventBus,HTTPRoute,RDSInstance,S3Bucket,"+
		"NFSShare,Upload,Update,Umbrella,Unknown,integer,array,object,int-or-string,any", ",") {
		if got := article.With(noun); got != "an "+noun {
			t.Errorf("%q", got)
		}
	}
}
